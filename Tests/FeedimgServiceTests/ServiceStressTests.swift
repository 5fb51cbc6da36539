import Glibc
import Testing

/// Runs the stress test with few clients.
@Suite(.timeLimit(.minutes(5))) struct ServiceStressTests {
  @Test func `misbehaving clients do not disturb others, and memory does not grow`() throws {
    let script = "\(#filePath)".split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/Stress/run"
    let output = "/tmp/feedimg-stress-\(getpid())"
    let process = try ServiceRun.spawn(
      ["/usr/bin/python3", script, "--light", ServiceRun.program],
      ["PATH": "/usr/bin:/bin"],
      errors: output
    )
    var ended: Int32 = 0
    while waitpid(process, &ended, 0) < 0, errno == EINTR {}
    #expect(ended == 0, "the output of the script is in \(output)")
    if ended == 0 { unlink(output) }
  }
}
