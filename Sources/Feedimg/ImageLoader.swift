@_exported public import FeedimgModel
