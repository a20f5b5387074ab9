import Foundation
import SealKit

/// The accounts of whoever runs this: `~/.config/sealkit`, one key file each, with what the account has verified beside
/// it.
///
/// `default` is `account.json`; the others are `accounts/NAME.json`. The file `current` names the one in use.
struct AccountFolder {
    static let defaultName = "default"

    let url: URL

    /// - Parameter home: whose `.config` it is in.
    init(home: URL) { url = home.appendingPathComponent(".config/sealkit") }

    private var accounts: URL { url.appendingPathComponent("accounts") }
    private var currentFile: URL { url.appendingPathComponent("current") }

    /// Names become file names: nothing that leads out of the folder, hides, or looks like an option.
    static func isName(_ text: String) -> Bool {
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

    static func check(_ name: String) throws(SealKitError) {
        guard isName(name) else {
            throw SealKitError(
                .invalidArguments, "this is no name for an account",
                remedy: "use 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or digit")
        }
    }

    func keyFile(_ name: String) -> URL {
        name == Self.defaultName
            ? url.appendingPathComponent("account.json") : accounts.appendingPathComponent(name + ".json")
    }

    /// The account in use.
    /// - Throws: `invalidArguments` when the file that says so is damaged: another account would be a silent mistake.
    func current() throws(SealKitError) -> String {
        guard let data = FileManager.default.contents(atPath: currentFile.path) else { return Self.defaultName }
        let name = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard Self.isName(name) else {
            throw SealKitError(
                .invalidArguments, "\(currentFile.path) does not hold an account's name",
                remedy: "remove it, then: sealkit account use NAME")
        }
        return name
    }

    func use(_ name: String) throws {
        do { try Data((name + "\n").utf8).write(to: currentFile, options: .atomic) } catch {
            throw Failure.Local(status: .cannotWrite, reason: "\(currentFile.path) cannot be written")
        }
    }

    /// An account has gone from this machine: where it was the one in use, the default one is.
    func left(_ keyFile: URL) throws {
        let name = try current()
        if name != Self.defaultName, self.keyFile(name).path == keyFile.path { try use(Self.defaultName) }
    }

    /// Those that have a key file.
    func names() -> [String] {
        let others = ((try? FileManager.default.contentsOfDirectory(atPath: accounts.path)) ?? [])
            .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.filter(Self.isName).sorted()
        return (has(Self.defaultName) ? [Self.defaultName] : []) + others
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: keyFile(name).path) }
}
