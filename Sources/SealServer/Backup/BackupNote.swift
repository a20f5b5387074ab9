import Foundation
import SealService
import SealStorage
import SealSystem

/// When a data folder was last copied whole: the time of a file in it, with the backup's name. `sealkit backup` leaves
/// it, and what copies by other means touches it. It is no row of the database: a backup writes nothing into what it
/// copies, and each server of several has a data folder of its own.
struct BackupNote: Sendable {
    static let fileName = "last-backup"
    private static let mostBytes = 256

    /// Empty where something else has made the copy, or nothing has yet.
    let name: String
    /// Seconds since 1970.
    let time: Int64

    /// Seconds that clocks may be apart.
    private static let tolerance: Int64 = 3_600

    /// Nil where there is none, or it cannot be read.
    init?(in folder: String) {
        let path = folder + "/" + Self.fileName
        guard let status = FileStatus(path: path), let bytes = try? FileReader(path).read(atMost: Self.mostBytes) else {
            return nil
        }
        name = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        time = Int64(status.modified.date.timeIntervalSince1970)
    }

    /// In seconds. A time that is still to come is a clock's that was ahead: nobody knows when it was, and so it is as
    /// long ago as any.
    func age(now: Int64) -> Int64 { time > now + Self.tolerance ? now : max(0, now - time) }

    /// Of now.
    /// - Throws: `FileError`.
    static func write(_ name: String, in folder: String) throws {
        try PrivateFiles.replace(folder + "/" + fileName, with: name + "\n")
    }

    /// Where there is none yet, so that a server of which no backup is ever made has an age too.
    /// - Throws: `FileError`.
    static func begin(in folder: String) throws {
        if FileStatus(link: folder + "/" + fileName) == nil { try write("", in: folder) }
    }
}
