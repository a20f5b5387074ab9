import Foundation
import SealPrimitives

/// What this process's memory must not hold: needles, kept where the search does not look.
///
/// They go from secret memory straight into pages of their own, so that the test itself leaves no copy.
final class Vault {
    private let base: UnsafeMutableRawPointer
    private let capacity = 1 << 16
    private var used = 0
    private var needles: [(name: String, offset: Int, count: Int)] = []

    init() {
        base = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    }

    deinit { munmap(base, capacity) }

    func remember(_ name: String, _ secret: SecretBytes) {
        precondition(secret.count >= 16 && used + secret.count <= capacity)
        secret.withPointer { (base + used).copyMemory(from: $0, byteCount: secret.count) }
        needles.append((name, used, secret.count))
        used += secret.count
    }

    /// What swift-crypto leaves: its X-Wing private key holds the seed inside an object that is not wiped when it goes.
    /// SECURITY.md says so. Nothing else may be found.
    func foundBeyondSwiftCrypto() -> [String] { found().filter { !$0.hasPrefix("X-Wing seed") } }

    /// The needles that lie somewhere, and where in this process's writable memory: heap, freed blocks and stacks.
    func found() -> [String] {
        let regions = Vault.writableRegions().filter { !$0.bounds.contains(UInt(bitPattern: base)) }
        return needles.compactMap { needle in
            let places = regions.filter { region in
                guard let start = UnsafeRawPointer(bitPattern: region.bounds.lowerBound) else { return false }
                return Vault.search(start, region.bounds.count, base + needle.offset, needle.count) != nil
            }
            return places.isEmpty ? nil : "\(needle.name) \(places.map(\.name))"
        }
    }

    /// glibc's `memmem`, which its headers hide from Swift: it looks in place, so nothing is copied.
    private typealias Search = @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?
    private static let search = unsafeBitCast(dlsym(nil, "memmem"), to: Search.self)

    private static func writableRegions() -> [(bounds: Range<UInt>, name: String)] {
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        return maps.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count >= 5, parts[1].hasPrefix("rw"), !line.contains("/dev/") else { return nil }
            let ends = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2 else { return nil }
            return (ends[0]..<ends[1], parts.count > 5 ? String(parts[5]) : "mapped")
        }
    }
}
