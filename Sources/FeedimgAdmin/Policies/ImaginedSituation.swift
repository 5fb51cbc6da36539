import FeedimgModel
import FeedimgPolicy

/// A situation put together by hand, and who said what of it.
struct ImaginedSituation {
  /// What nobody tells is as the table of facts has it where it is not known; a variant can be had, but is not cached.
  private(set) var situation = Situation(network: .other, original: .remote, thumbnail: .remote)
  private(set) var sources: [Fact: String] = [.fits: "size against budget left"]
  private let facts: FactCatalog

  /// The source of what nobody has told.
  static let unknown = "not told"

  init(facts: FactCatalog) { self.facts = facts }

  /// Takes over what this machine tells.
  mutating func look(at network: NetworkState, _ settings: UserSettings, _ budget: BudgetReading) {
    situation.network = network.kind
    situation.metered = network.metered
    situation.isRoaming = network.isRoaming
    situation.alwaysOriginal = settings.alwaysLoadOriginalsOnCellular
    situation.savesData = settings.savesData
    situation.budgetLeft = budget.left
    sources[.dataSaver] = "the setting data-saver"
    sources[.budgetLeft] = budget.source
    sources[.network] = network.reason
    sources[.metered] = network.meteredReason
    sources[.roaming] = network.sourceOfRoaming
    sources[.alwaysOriginal] = "the setting always-load-originals-on-cellular"
  }

  /// Takes over what was given.
  ///
  /// - Throws: ``PolicyFault``, unreadable, that tells what the fact can be.
  mutating func set(_ given: SituationOverride) throws(PolicyFault) {
    do throws(FactError) {
      let fact = try Fact(typed: given.fact, among: facts)
      try fact.set(typed: given.value, in: &situation)
      sources[fact] = given.source
      // The price that was seen is that of another network.
      if fact == .network, sources[.metered] != given.source { forgetPrice() }
    } catch {
      throw PolicyFault([error.description], isUnreadable: true)
    }
  }

  private mutating func forgetPrice() {
    situation.metered = .unknown
    sources[.metered] = nil
  }
}
