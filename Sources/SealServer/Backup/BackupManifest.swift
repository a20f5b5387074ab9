package import Foundation
import SealStorage

/// What a backup says of itself: readable, also where all else is sealed.
package struct BackupManifest: Codable, Sendable, Equatable {
    /// A file of the backup as it lies there, sealed or not.
    struct File: Codable, Sendable, Equatable {
        var name: String
        var size: Int64
        var sha256: String

        init(_ name: String, _ sum: FileSum) { (self.name, size, sha256) = (name, sum.size, sum.sha256) }

        var sum: FileSum { FileSum(size: size, sha256: sha256) }
    }

    static let format = 1

    /// Of this file.
    let format: Int
    /// Of the server that made it.
    package let version: String
    /// The database's steps, oldest first.
    let schema: [String]
    /// Higher than of all backups that the place had before: times go by a clock, which may be set back. Nil where it
    /// was made before they had one.
    let sequence: Int?
    package let time: Date
    /// Of the server, where it was known.
    package let origin: String?
    /// Whom it is sealed to; nil where it is not sealed.
    package let recipient: String?
    let database: File
    let blobList: File
    /// The folder of the place that has them.
    let blobFolder: String
    package let blobs: Int
    /// That the data folder did not have any more, whole.
    package let missingBlobs: Int
    /// By the path within the secrets folder.
    let secrets: [String: String]
    /// The number of the database's first run, by which it is told from another; a restored one keeps it. In words:
    /// others read numbers of JSON with fewer digits. Nil where it was made before it was noted.
    let firstRun: String?

    init(
        version: String, schema: [String], sequence: Int, time: Date, origin: String?, recipient: BackupRecipient?,
        database: File,
        blobList: File, blobFolder: String, blobs: Int, missingBlobs: Int, secrets: [String: String], firstRun: String
    ) {
        format = Self.format
        self.version = version
        self.schema = schema
        self.sequence = sequence
        self.time = time
        self.origin = origin
        self.recipient = recipient?.text
        self.database = database
        self.blobList = blobList
        self.blobFolder = blobFolder
        self.blobs = blobs
        self.missingBlobs = missingBlobs
        self.secrets = secrets
        self.firstRun = firstRun
    }

    // MARK: As a file

    static let fileName = "manifest.json"
    /// As `sha256sum -c` reads it.
    static let sumName = "manifest.json.sha256"
    private static let mostBytes = 1 << 20

    func write(into folder: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let manifest = try FileWriter(folder + "/" + Self.fileName)
        try manifest.write([UInt8](try encoder.encode(self)) + [0x0A])
        let sum = try FileWriter(folder + "/" + Self.sumName)
        try sum.write(Array("\(try manifest.finish().sha256)  \(Self.fileName)\n".utf8))
        _ = try sum.finish()
    }

    /// - Throws: `BackupError` (`damaged`), `FileError`, `CancellationError`.
    init(readFrom folder: String) throws {
        func damaged(_ how: String) -> BackupError {
            BackupError(
                .damaged, "\(folder)/\(Self.fileName) \(how)",
                remedy: "use an older backup, and let sealkit backup make a new one")
        }
        guard let sums = try? FileReader(folder + "/" + Self.sumName), let line = try sums.line(),
            let manifest = try? FileReader(folder + "/" + Self.fileName)
        else { throw damaged("or its sum is missing") }
        let bytes = try manifest.read(atMost: Self.mostBytes)
        guard line == "\(manifest.sum.sha256)  \(Self.fileName)" else { throw damaged("is damaged: its sum differs") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        struct Format: Decodable { let format: Int }
        guard let found = try? decoder.decode(Format.self, from: Data(bytes)) else { throw damaged("is no manifest") }
        guard found.format == Self.format else {
            throw BackupError(
                .badInput, "\(folder) was made in another form (\(found.format))",
                remedy: "use the version of sealkit that made it")
        }
        guard let read = try? decoder.decode(Self.self, from: Data(bytes)), read.hasPlainNames, read.sequence ?? 0 >= 0
        else {
            throw damaged("is no manifest")
        }
        self = read
    }

    /// What it names lies where it may: a manifest is not to lead anywhere else.
    private var hasPlainNames: Bool {
        [database.name, blobList.name, blobFolder].allSatisfy { name in
            !name.isEmpty && !name.hasPrefix(".") && name.utf8.allSatisfy { $0 != 0x2F && $0 >= 0x20 }
        }
    }
}
