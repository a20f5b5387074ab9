import Foundation
import SealSystem

extension FileStatus.Moment {
    /// To the second.
    var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
}
