package import Foundation
import SealSystem

extension FileStatus.Moment {
    /// To the second.
    package var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
}
