// SPDX-License-Identifier: Apache-2.0
//
// Files that pprof makes are for their owner alone, whatever the umask, and
// nothing that others can put in their place is written to or followed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "control/control_socket.h"
#include "file/part.h"
#include "log/read/log_merge.h"
#include "log/recover/log_recover.h"
#include "log_fixture.h"
#include "mark/thread.h"
#include "recover/salvage.h"

// Another user than the one who made the files; see tests/BUILD.
static bool is_another_user;
extern "C" uid_t __real_geteuid(void);
extern "C" uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void) {
  return __real_geteuid() + is_another_user;
}

namespace {

using pplog::Exists;
using pplog::Slurp;
using pplog::Spill;

mode_t ModeOf(const std::string &path) {
  struct stat stat = {};
  EXPECT_EQ(0, lstat(path.c_str(), &stat)) << path;
  return stat.st_mode & 07777;
}

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    umask_ = umask(0);
  }
  void TearDown() override {
    is_another_user = false;
    umask(umask_);
  }
  std::string At(const std::string &name) const {
    return folder_ / name;
  }
  void Start(const std::string &more = "") {
    Spill(At("p.yaml"), "output: " + At("run.pplog") + "\n" + more);
    pprof_error error = {""};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(At("p.yaml").c_str(), &error))
        << error.text;
    static pprof_site site = {"site", 0, 0, 0, {0, 0}};
    pprof_push(&site);
    pprof_pop();
  }
  // A .part is free to be begun again; with a mind to what it was before.
  int Create(const std::string &name) const {
    const int fd = ppi_part_create(At(name).c_str());
    const int reason = errno;
    if (fd >= 0) close(fd);
    return fd >= 0 ? 0 : reason;
  }

  pplog::Folder folder_;
  mode_t umask_ = 0;
};

TEST_F(FilesTest, AreForTheirOwnerAlone) {
  Start("flight_recorder: {memory: 1MiB, output: " + At("dump.pplog") +
        "}\nexports:\n" + "  - {format: chrome, path: " + At("t.json") + "}\n" +
        "  - {format: json, path: " + At("r.json") + "}\n" +
        "  - {format: csv, path: " + At("r.csv") + "}\n" +
        "  - {format: table, path: " + At("r.txt") + "}\n");
  const std::string spool = ppi_recorder_in_force.spool.path;
  EXPECT_EQ(0600u, ModeOf(spool));
  EXPECT_EQ(0600u, ModeOf(At("run.pplog.part")));
  EXPECT_EQ(0600u, ModeOf(At("t.json.part")));
  // As a kill would leave it.
  Spill(At("left.spool"), std::string(reinterpret_cast<const char *>(
                                          ppi_recorder_in_force.spool.base),
                                      ppi_recorder_in_force.spool.size));
  pprof_error error = {""};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
  for (const char *name : {"run.pplog", "t.json", "r.json", "r.csv", "r.txt"})
    EXPECT_EQ(0600u, ModeOf(At(name))) << name;

  const std::string recovered = At("recovered.pplog");
  const ppi_recover_options how = {recovered.c_str(), false, true, false,
                                   nullptr};
  ppi_recover_result result;
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_recover(At("left.spool").c_str(), &how, &result, &error))
      << error.text;
  EXPECT_EQ(0600u, ModeOf(recovered));
  EXPECT_EQ(0600u, ModeOf(result.dump_path));

  const std::string log = At("run.pplog");
  ppi_log_merge_input input = {};
  input.path = input.name = log.c_str();
  ASSERT_EQ(PPI_LOG_MERGED,
            ppi_log_merge(&input, 1, At("merged.pplog").c_str(), &error))
      << error.text;
  EXPECT_EQ(0600u, ModeOf(At("merged.pplog")));
}

TEST_F(FilesTest, SocketIsForItsOwnerAlone) {
  // A socket's path must be short.
  std::string folder = "/tmp/pprof-test.XXXXXX";
  ASSERT_NE(nullptr, mkdtemp(&folder[0]));
  setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  char path[PPI_CONTROL_PATH_MAX], other[PPI_CONTROL_PATH_MAX];
  pprof_error error = {""};
  int fd = ppi_control_listen(path, &error);
  ASSERT_GE(fd, 0) << error.text;
  EXPECT_EQ(0600u, ModeOf(path));
  EXPECT_EQ(0700u, ModeOf(folder + "/pprof"));
  close(fd);
  unlink(path);
  // Who may enter it could put a socket of their own there.
  chmod((folder + "/pprof").c_str(), 0711);
  fd = ppi_control_listen(other, &error);
  EXPECT_NE(0, folder.compare(0, folder.size(), other, folder.size()));
  close(fd);
  unlink(other);
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(0, rmdir((folder + "/pprof").c_str()));
  EXPECT_EQ(0, rmdir(folder.c_str()));
}

TEST_F(FilesTest, OwnLeftoversAreTakenAndClosedToOthers) {
  Spill(At("x.part"), "");
  ASSERT_EQ(0666u, ModeOf(At("x.part")));
  EXPECT_EQ(0, Create("x.part"));
  EXPECT_EQ(0600u, ModeOf(At("x.part")));
}

TEST_F(FilesTest, NothingOfOthersIsTaken) {
  Spill(At("precious"), "all of it");
  ASSERT_EQ(0, symlink(At("precious").c_str(), At("link.part").c_str()));
  ASSERT_EQ(0, symlink(At("nowhere").c_str(), At("loose.part").c_str()));
  ASSERT_EQ(0, link(At("precious").c_str(), At("hard.part").c_str()));
  Spill(At("theirs.part"), "");
  for (const char *name : {"link.part", "loose.part", "hard.part"})
    EXPECT_EQ(EEXIST, Create(name)) << name;
  is_another_user = true;
  EXPECT_EQ(EEXIST, Create("theirs.part"));
  is_another_user = false;
  EXPECT_EQ(0, Create("theirs.part"));
  EXPECT_EQ("all of it", Slurp(At("precious")));
  EXPECT_FALSE(Exists(At("nowhere")));
}

// The run goes on, under another name.
TEST_F(FilesTest, LogStepsAsideOfATrap) {
  Spill(At("precious"), "all of it");
  ASSERT_EQ(0, symlink(At("precious").c_str(), At("run.pplog.part").c_str()));
  ASSERT_EQ(0, link(At("precious").c_str(), At("t.json.part").c_str()));
  Start("exports: [{format: chrome, path: " + At("t.json") + "}]\n");
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_EQ("all of it", Slurp(At("precious")));
  EXPECT_TRUE(Exists(At("run.1.pplog")));
  EXPECT_TRUE(Exists(At("t.json")));
}

// Neither does the start fail, nor is anything written to them.
TEST_F(FilesTest, FolderOfOthersIsStoodAsideOf) {
  ASSERT_EQ(0, mkdir(At("run.pplog").c_str(), 0755));
  is_another_user = true;
  pprof_sink *log = pplog::Create(At("run.pplog"));
  is_another_user = false;
  EXPECT_TRUE(Exists(At("run.1.pplog.part")));
  log->destroy(log);
}

TEST_F(FilesTest, PipesOfOthersAreStoodAsideOf) {
  for (const char *name : {"run.pplog", "t.json", "r.txt"}) {
    ASSERT_EQ(0, mkfifo(At(name).c_str(), 0666));
    if (chown(At(name).c_str(), 12345, 12345) != 0)
      GTEST_SKIP() << "there are no other users here: " << strerror(errno);
  }
  Start("exports:\n  - {format: chrome, path: " + At("t.json") +
        "}\n  - {format: table, path: " + At("r.txt") + "}\n");
  pprof_error error = {""};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error));
  EXPECT_STREQ("run.pplog was there already: the log is run.1.pplog",
               error.text);
  for (const char *name : {"run.1.pplog", "t.1.json", "r.1.txt"})
    EXPECT_TRUE(Exists(At(name))) << name;
}

// Written in place is only what this user, or root, links to.
TEST_F(FilesTest, LinkToADeviceIsFollowedForItsOwnerOnly) {
  ASSERT_EQ(0, symlink("/dev/null", At("out.json").c_str()));
  ppi_part part;
  pprof_error error = {""};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_part_open(At("out.json").c_str(), nullptr, &part, &error));
  ppi_part_clear(&part, false);
  is_another_user = true;
  const bool is_root = __real_geteuid() == 0;
  EXPECT_EQ(!is_root, ppi_part_is_foreign_link(At("out.json").c_str()));
  // Another user's is stood aside of.
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_part_open(At("out.json").c_str(), nullptr, &part, &error));
  EXPECT_EQ(At(is_root ? "out.json" : "out.1.json"), part.path.text);
  ppi_part_clear(&part, false);
}

// What a spool says of paths is its owner's word. Somebody else's is looked at,
// and written where the caller says; nothing it names is touched.
TEST_F(FilesTest, ForeignSpoolNamesNoPaths) {
  Start("flight_recorder: {memory: 1MiB, output: " + At("dump.pplog") + "}\n");
  Spill(At("left.spool"), std::string(reinterpret_cast<const char *>(
                                          ppi_recorder_in_force.spool.base),
                                      ppi_recorder_in_force.spool.size));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  unlink(At("run.pplog").c_str());
  Spill(At("run.pplog.part"), "");
  is_another_user = true;
  ppi_recover_result result;
  pprof_error error = {""};
  const std::string here = folder_ / "here";
  ASSERT_EQ(0, mkdir(here.c_str(), 0700));
  ASSERT_EQ(0, chdir(here.c_str()));
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_recover(At("left.spool").c_str(), nullptr, &result, &error))
      << error.text;
  EXPECT_STREQ("run.pplog", result.path);
  EXPECT_TRUE(Exists(here + "/run.pplog"));
  const std::string output = At("mine.pplog");
  const ppi_recover_options how = {output.c_str(), false, false, false,
                                   nullptr};
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_recover(At("left.spool").c_str(), &how, &result, &error))
      << error.text;
  EXPECT_TRUE(Exists(output));
  EXPECT_TRUE(Exists(At("left.spool")));
  EXPECT_TRUE(Exists(At("run.pplog.part")));
  EXPECT_FALSE(Exists(At("dump.pplog")));
  EXPECT_FALSE(Exists(At("run.pplog")));
}

// A spool that came by mail is this user's own file, and may name any path.
class StrangersSpoolTest : public FilesTest {
 protected:
  // One whose log is called `log` and whose dump `dump`, "" for none; neither
  // is there. It lies in mail/, the current folder is here/.
  void Receive(const std::string &log, const std::string &dump) {
    for (const char *name : {"mail", "here", "home"})
      ASSERT_EQ(0, mkdir(At(name).c_str(), 0700));
    ASSERT_EQ(0, chdir(At("here").c_str()));
    Spill(
        At("p.yaml"),
        "output: " + log + "\n" +
            (dump.empty()
                 ? ""
                 : "flight_recorder: {memory: 1MiB, output: " + dump + "}\n"));
    pprof_error error = {""};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(At("p.yaml").c_str(), &error))
        << error.text;
    static pprof_site site = {"site", 0, 0, 0, {0, 0}};
    pprof_push(&site);
    pprof_pop();
    spool_.assign(
        reinterpret_cast<const char *>(ppi_recorder_in_force.spool.base),
        ppi_recorder_in_force.spool.size);
    Spill(At("mail/pprof-x.spool"), spool_);
    ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
    unlink(log.c_str());
  }
  pprof_status Recover() {
    pprof_error error = {""};
    return ppi_recover(At("mail/pprof-x.spool").c_str(), nullptr, &result_,
                       &error);
  }
  // What is in the folder, by name.
  std::string In(const std::string &folder) const {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(At(folder)))
      if (entry.path().extension() != ".spool")
        names.insert(entry.path().filename());
    std::string all;
    for (const auto &name : names) all += name + " ";
    return all;
  }
  void Patch(const std::string &from, const std::string &to) {
    ASSERT_EQ(from.size(), to.size());
    size_t at = 0;
    int num = 0;
    for (; (at = spool_.find(from, at)) != std::string::npos; num++)
      spool_.replace(at, to.size(), to);
    ASSERT_GT(num, 0);
    Spill(At("mail/pprof-x.spool"), spool_);
  }

  std::string spool_;
  ppi_recover_result result_ = {};
};

TEST_F(StrangersSpoolTest, WritesToTheCurrentFolderAlone) {
  Receive(At("home/keys.pplog"), At("home/dump.pplog"));
  EXPECT_EQ(PPROF_STATUS_OK, Recover());
  EXPECT_EQ("", In("home"));
  EXPECT_EQ("dump.pplog keys.pplog ", In("here"));
  EXPECT_STREQ("keys.pplog", result_.path);
  EXPECT_EQ(At("home/keys.pplog.part"), result_.reported_path);
}

TEST_F(StrangersSpoolTest, BesideTheSpoolItsNameHolds) {
  Receive(At("mail/keys.pplog"), At("mail/dump.pplog"));
  EXPECT_EQ(PPROF_STATUS_OK, Recover());
  EXPECT_EQ("", In("here"));
  EXPECT_EQ("dump.pplog keys.pplog ", In("mail"));
  EXPECT_STREQ("", result_.reported_path);
}

// Not even in the current folder is any name taken.
TEST_F(StrangersSpoolTest, NameEndsAsALogsDoes) {
  Receive(At("home/authorized_key.pplog"), At("home/authorized_key2.pplog"));
  Patch("authorized_key.pplog.part", "../here/authorized_keys.p");
  Patch("authorized_key2.pplog", std::string("../here/.bash_profile"));
  EXPECT_EQ(PPROF_STATUS_OK, Recover());
  EXPECT_EQ("", In("home"));
  EXPECT_EQ(0u, In("here").find("pprof.")) << In("here");
  EXPECT_EQ(std::string::npos, In("here").find("authorized")) << In("here");
  EXPECT_EQ(std::string::npos, In("here").find("bash")) << In("here");
}

// Log and dump come from two folders and would have one name in this one.
TEST_F(StrangersSpoolTest, DumpOfTheSameNameIsNotTakenForTheLog) {
  ASSERT_EQ(0, mkdir(At("dumps").c_str(), 0700));
  Receive(At("home/run.pplog"), At("dumps/run.pplog"));
  EXPECT_EQ(PPROF_STATUS_OK, Recover());
  EXPECT_FALSE(result_.already_whole);
  EXPECT_EQ(At("here/run.pplog"), result_.dump_path);
  EXPECT_STREQ("run.recovered.pplog", result_.path);
}

// A run's own .part, which only this user could put there, is.
TEST_F(StrangersSpoolTest, WhereItsRunHasLeftItsPartItIsFollowed) {
  Receive(At("home/run.pplog"), At("home/dump.pplog"));
  Spill(At("home/run.pplog.part"), "");
  EXPECT_EQ(PPROF_STATUS_OK, Recover());
  EXPECT_EQ("", In("here"));
  EXPECT_EQ("dump.pplog run.pplog ", In("home"));
  EXPECT_EQ("", In("mail"));
}

}  // namespace
