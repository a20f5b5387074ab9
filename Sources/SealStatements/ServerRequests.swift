public import SealPrimitives

/// What a server-to-server key signs of each request.
public enum ServerRequests {
    /// How far a request's date may be from the server's clock, either way: ten minutes, in microseconds.
    public static let window: Int64 = 600_000_000

    /// Over everything that makes the request this one, so that nobody can send it elsewhere, alter it, or send it
    /// again.
    /// - Parameters:
    ///   - origin: the server's, as at login.
    ///   - user: the key's user.
    ///   - method: `POST`, `PUT`, `GET`.
    ///   - path: as it is sent, from the first slash on, with its query.
    ///   - date: as it is sent.
    ///   - body: none for an upload of an asset, whose bytes the record's own signature covers.
    public static func signedBytes(
        origin: String, user: UserID, method: String, path: String, date: String, nonce: ID16, body: [UInt8]
    ) -> PAE {
        var pae = PAE(.serverRequest, pieces: 7, capacity: body.count + 512)
        pae.add(origin)
        pae.add(user.id)
        pae.add(method)
        pae.add(path)
        pae.add(date)
        pae.add(nonce)
        pae.add(body)
        return pae
    }

    /// `2026-11-21T13:40:00Z`: that form alone. Microseconds since 1970; nil for anything else, and for days that there
    /// are not.
    public static func time(of date: some StringProtocol) -> Int64? {
        let bytes = [UInt8](date.utf8)
        let form = [UInt8]("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == form.count else { return nil }
        for (byte, expected) in zip(bytes, form) {
            guard expected == 0x30 ? byte >= 0x30 && byte <= 0x39 : byte == expected else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard year >= 1970, (1...12).contains(month), day >= 1, day <= lengths[Int(month) - 1], hour < 24, minute < 60,
            second < 60
        else { return nil }
        let before = year - 1
        let leapDays = before / 4 - before / 100 + before / 400 - 477
        let days = (year - 1970) * 365 + leapDays + lengths[..<(Int(month) - 1)].reduce(0, +) + day - 1
        return (days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000
    }

    /// The form that `time(of:)` reads, of a time from 1970 to 9999; fractions of a second are left out.
    public static func date(at time: Int64) -> String {
        var days = max(0, time) / 86_400_000_000
        let seconds = max(0, time) / 1_000_000 % 86_400
        // Days since 1970 to a civil date: eras of 400 years that begin on 1 March (Hinnant, "chrono-compatible date
        // algorithms").
        days += 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ number: Int64, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        return
            "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(padded(seconds / 3_600)):\(padded(seconds / 60 % 60)):\(padded(seconds % 60))Z"
    }
}
