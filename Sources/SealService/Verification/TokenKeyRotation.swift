public import Foundation
import SealPrimitives
import SealStatements
import SealStorage
import SealSystem

/// Gives a server a new key for its verification tokens, while it runs or not: it works on the files of the secrets
/// folder, and a running server notices.
///
/// The new key signs from then on; those before it stay published and go on verifying, until none of their tokens can
/// be under way any more.
public struct TokenKeyRotation {
    /// How long a key verifies after another one began to sign. Tokens live a quarter of an hour; the rest is for
    /// clocks, and for those who keep the published keys.
    public static let overlap: TimeInterval = 86_400

    public struct Entry: Sendable, Equatable {
        /// PASERK `k4.pid`, as in a token's footer.
        public let id: String
        public let made: Date
        /// Whether it is the one that signs.
        public let isCurrent: Bool
        let name: String
    }

    private let folder: String

    /// - Throws: `RotationError.noServer` where no server has ever kept its keys.
    public init(secretsFolder: String) throws {
        folder = secretsFolder + "/token-keys"
        guard FileStatus(path: folder)?.isFolder == true else { throw RotationError.noServer(path: folder) }
        Sodium.start()
    }

    /// In order of making: the last is the one that signs.
    public func keys() throws -> [Entry] {
        let names = try TokenKeyFiles.names(in: folder)
        return try names.map { name in
            let path = folder + "/" + name
            let key = try SigningKey(seed: try SecretFile.load(at: path))
            guard let status = FileStatus(path: path) else {
                throw FileError(path: path, action: "examine", code: errno)
            }
            let id = KeyIdentifier.paserk(of: key.verificationKey)
            return Entry(id: id, made: status.modified.date, isCurrent: name == names.last, name: name)
        }
    }

    /// Makes a new key, and removes those that another one followed longer than `overlap` ago.
    /// - Returns: the new key, and the ids of those that went.
    public func rotate(now: Date = Date()) throws -> (made: Entry, removed: [String]) {
        let before = try keys()
        let number = before.last.flatMap { TokenKeyFiles.number($0.name) } ?? 0
        guard number < TokenKeyFiles.mostNumber else { throw RotationError.noNumberLeft }
        // A file that exists is never replaced: of two rotations at once, one fails.
        try SecretFile.create(at: folder + "/" + TokenKeyFiles.name(number + 1), randomBytes: systemRandomBytes)
        var removed: [String] = []
        for (key, next) in zip(before, before.dropFirst()) where now.timeIntervalSince(next.made) > Self.overlap {
            try remove(key)
            removed.append(key.id)
        }
        guard let made = try keys().last else { throw RotationError.noServer(path: folder) }
        return (made, removed)
    }

    /// Removes a key at once, as when somebody else may have it: its tokens are refused from then on.
    /// - Throws: `RotationError.isCurrent` for the key that signs, `.unknownKey` for one that is not there.
    public func remove(id: String) throws {
        guard let key = try keys().first(where: { $0.id == id }) else { throw RotationError.unknownKey }
        guard !key.isCurrent else { throw RotationError.isCurrent }
        try remove(key)
    }

    private func remove(_ key: Entry) throws {
        let path = folder + "/" + key.name
        guard unlink(path) == 0 else { throw FileError(path: path, action: "remove", code: errno) }
        try PrivateFiles.syncFolder(at: folder)
    }
}

public enum RotationError: Error, Equatable, CustomStringConvertible {
    case noServer(path: String)
    case noNumberLeft
    case unknownKey
    case isCurrent

    public var description: String {
        switch self {
        case .noServer(let path):
            "There are no token keys at \(path). Name the folder that the server was started with."
        case .noNumberLeft:
            "The last number for a key is taken. Move the files to lower numbers while the server stands still."
        case .unknownKey: "There is no such key. `sealkit admin token-keys list` shows those that there are."
        case .isCurrent: "This key is the one that signs. Rotate first, then remove it."
        }
    }
}
