# In a narrow terminal a long path stands once, above what is said of its log.
folder=a_folder_with_a_name_that_leaves_no_room_in_a_line/run_of_a_night
mkdir -p $folder
cp "$LOGS/lossy.pplog" $folder/lossy.pplog
cp "$LOGS/good.pplog" .
python3 "$TESTS"/in_terminal.py 80 "$TOOL" check $folder/lossy.pplog good.pplog
