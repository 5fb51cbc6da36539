/// What services said of paths a moment ago, so that not every look need ask them.
struct AdviceMemo: Sendable {
  private struct Question: Hashable {
    let path: NetworkPath
    let services: NetworkServices
  }

  private struct Answer {
    let advice: NetworkAdvice
    let askedAt: ContinuousClock.Instant
  }

  /// How long an answer counts.
  let life: Duration
  private var answers: [Question: Answer] = [:]

  init(life: Duration) { self.life = life }

  /// What is still known; nil where it is time to ask.
  func advice(
    on path: NetworkPath,
    from services: NetworkServices,
    at now: ContinuousClock.Instant
  ) -> NetworkAdvice? {
    answers[Question(path: path, services: services)].flatMap { now - $0.askedAt < life ? $0.advice : nil }
  }

  /// Takes in an answer, unless one to a later question is known.
  mutating func note(
    _ advice: NetworkAdvice,
    on path: NetworkPath,
    from services: NetworkServices,
    askedAt: ContinuousClock.Instant
  ) {
    let question = Question(path: path, services: services)
    if let known = answers[question], known.askedAt > askedAt { return }
    answers = answers.filter { askedAt - $0.value.askedAt < life }
    answers[question] = Answer(advice: advice, askedAt: askedAt)
  }

  /// Something was heard that what is known does not tell of.
  mutating func forget() { answers = [:] }
}
