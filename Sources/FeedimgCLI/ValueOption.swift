import ArgumentParser

// The value of an option may begin with a hyphen: `--limit -1` has an invalid value, and `-1` is not an unknown option.

extension Option {
  /// An option that the user may omit.
  init<T: ExpressibleByArgument>(
    _ valueName: String,
    _ help: String,
    name: NameSpecification = .long,
    completion: CompletionKind? = nil
  ) where Value == T? {
    let help = ArgumentHelp(help, valueName: valueName)
    self.init(name: name, parsing: .unconditional, help: help, completion: completion)
  }

  /// An option with a default value.
  init(
    wrappedValue: Value,
    _ valueName: String,
    _ help: String,
    completion: CompletionKind? = nil
  ) where Value: ExpressibleByArgument {
    let help = ArgumentHelp(help, valueName: valueName)
    self.init(wrappedValue: wrappedValue, parsing: .unconditional, help: help, completion: completion)
  }

  /// An option that the user may repeat.
  init<T: ExpressibleByArgument>(
    wrappedValue: [T],
    _ valueName: String,
    _ help: String,
    completion: CompletionKind? = nil
  ) where Value == [T] {
    let help = ArgumentHelp(help, valueName: valueName)
    self.init(
      wrappedValue: wrappedValue,
      parsing: .unconditionalSingleValue,
      help: help,
      completion: completion
    )
  }
}
