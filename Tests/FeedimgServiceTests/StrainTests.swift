import Glibc
import Testing

/// Many clients and misbehaving ones, by the script that also runs with larger numbers.
@Suite(.timeLimit(.minutes(5))) struct StrainTests {
  @Test func `misbehaving clients do not disturb others, and memory does not grow`() throws {
    let script = "\(#filePath)".split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/Strain/run"
    let output = "/tmp/feedimg-strain-\(getpid())"
    defer { unlink(output) }
    let process = try ServiceRun.spawn(
      ["/usr/bin/python3", script, "--light", ServiceRun.program],
      ["PATH": "/usr/bin:/bin"],
      errors: output
    )
    var ended: Int32 = 0
    while waitpid(process, &ended, 0) < 0, errno == EINTR {}
    #expect(ended == 0, "\(output)")
  }
}
