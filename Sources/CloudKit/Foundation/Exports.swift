// Sources that import only CloudKit use Foundation by it, as on Apple's platforms.
@_exported public import Foundation
