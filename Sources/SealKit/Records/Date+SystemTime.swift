import Foundation
import SealStatements

/// Times of the server and of statements, whole microseconds since 1970, as apps see them.
extension Date {
    init(microseconds: Int64) {
        self.init(timeIntervalSinceReferenceDate: ReferenceDate.seconds(ofMicroseconds: microseconds))
    }

    /// Of a date that was made of a time of that kind; one beyond their range, which no app can have set, is its end.
    var systemTime: Int64 {
        ReferenceDate.microseconds(ofSeconds: timeIntervalSinceReferenceDate)
            ?? (timeIntervalSinceReferenceDate < 0 ? .min : .max)
    }
}
