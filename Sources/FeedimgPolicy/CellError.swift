/// Why a cell cannot be read; whoever reads the table adds the place.
struct CellError: Error {
  /// One line in words, without the suggestion.
  var message: String
  /// The word that was probably meant.
  var suggestion: String?
}
