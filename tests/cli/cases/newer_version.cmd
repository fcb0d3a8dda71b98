# The format's major version is byte 8; the header's checksum ends it.
python3 - "$LOGS/good.pplog" newer.pplog <<'PYTHON'
import struct, sys, zlib
log = bytearray(open(sys.argv[1], "rb").read())
log[8] = 99
log[60:64] = struct.pack("<I", zlib.crc32(bytes(log[:60])))
open(sys.argv[2], "wb").write(log)
PYTHON
"$TOOL" newer.pplog
