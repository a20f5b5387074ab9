package import Foundation

/// The accounts of whoever runs this: `~/.config/sealkit`, one key file each, with what the account has verified beside
/// it. The command line makes them; whatever else runs as the same user finds the one in use.
///
/// `default` is `account.json`; the others are `accounts/NAME.json`. The file `current` names the one in use.
package struct AccountFolder: Sendable {
    package static let defaultName = "default"

    package let url: URL

    /// - Parameter home: whose `.config` it is in.
    package init(home: URL) { url = home.appendingPathComponent(".config/sealkit") }

    package var accounts: URL { url.appendingPathComponent("accounts") }
    package var currentFile: URL { url.appendingPathComponent("current") }

    /// Names become file names: nothing that leads out of the folder, hides, or looks like an option.
    package static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, first != UInt8(ascii: "."),
            first != UInt8(ascii: "-")
        else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    package static func check(_ name: String) throws(SealKitError) {
        guard isName(name) else {
            throw SealKitError(
                .invalidArguments, "this is no name for an account",
                remedy: "use 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or digit")
        }
    }

    package func keyFile(_ name: String) -> URL {
        name == Self.defaultName
            ? url.appendingPathComponent("account.json") : accounts.appendingPathComponent(name + ".json")
    }

    /// The account in use.
    /// - Throws: `invalidArguments` when the file that says so is damaged, `permissionFailure` when it cannot be read:
    ///   another account would be a silent mistake.
    package func current() throws(SealKitError) -> String {
        guard let content = try PrivateFile.read(currentFile) else { return Self.defaultName }
        let name = String(decoding: content.bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard Self.isName(name) else {
            throw SealKitError(
                .invalidArguments, "\(currentFile.path) does not hold an account's name",
                remedy: "remove it, and choose the account in use anew")
        }
        return name
    }

    /// Those that have a key file.
    package func names() -> [String] {
        let others = ((try? FileManager.default.contentsOfDirectory(atPath: accounts.path)) ?? [])
            .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.filter(Self.isName).sorted()
        return (has(Self.defaultName) ? [Self.defaultName] : []) + others
    }

    package func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: keyFile(name).path) }
}
