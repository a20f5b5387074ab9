import Foundation
import SealPrimitives
import SealSystem

/// Reads an archive that anybody may have written: nothing outside of its folder, no more memory than a line takes, and
/// nothing that differs from its sum.
struct ArchiveReader {
    /// A record's fields are 1 MiB at most; as JSON they take some times as much.
    static let largestLine = 16 << 20
    private static let largestDocument = 64 << 20

    let folder: URL

    func manifest() throws(SealKitError) -> ArchiveFormat.Manifest {
        let handle = try open([ArchiveFormat.manifest])
        defer { try? handle.close() }
        let manifest: ArchiveFormat.Manifest = try decode(
            try document(handle, ArchiveFormat.manifest), ArchiveFormat.manifest)
        guard manifest.format == ArchiveFormat.name else {
            throw refused(ArchiveFormat.manifest, "is not that of a SealKit data archive")
        }
        guard manifest.version == ArchiveFormat.version else {
            throw SealKitError(
                .incompatibleVersion, "the archive was made by a newer version", remedy: "update SealKit")
        }
        for (index, zone) in manifest.zones.enumerated() {
            guard zone.folder == "zones/\(index + 1)" else {
                throw refused(ArchiveFormat.manifest, "names a folder that no export makes")
            }
            guard zone.database != .public || zone.zoneName == RecordZone.defaultName else {
                throw refused(
                    ArchiveFormat.manifest, "names a zone of the public database, which has only its default zone")
            }
        }
        return manifest
    }

    func zone(_ zone: ArchiveFormat.Manifest.Zone) throws(SealKitError) -> ArchiveFormat.Zone {
        let handle = try verified(ArchiveFormat.zone, of: zone)
        defer { try? handle.close() }
        return try decode(try document(handle, ArchiveFormat.zone), zone.folder + "/" + ArchiveFormat.zone)
    }

    /// Holds a zone's files, all but its assets, against the sums that the manifest names.
    func check(_ zone: ArchiveFormat.Manifest.Zone) throws(SealKitError) {
        _ = try self.zone(zone)
        let lines = try verified(ArchiveFormat.records, of: zone)
        try? lines.close()
    }

    /// A zone's file, once all of it has the sum that the manifest names.
    func verified(_ name: String, of zone: ArchiveFormat.Manifest.Zone) throws(SealKitError) -> FileHandle {
        let path = zone.folder + "/" + name
        let handle = try open(zone.folder.split(separator: "/").map(String.init) + [name])
        do {
            let sum = try ArchiveFile.sum(of: handle)
            try handle.seek(toOffset: 0)
            if sum.sha256 == zone.sums[name] { return handle }
        } catch { throw refused(path, "cannot be read") }
        try? handle.close()
        throw SealKitError(
            .integrityFailure, "\(path) of the archive does not have the sum that its manifest names",
            remedy: "the archive is damaged or was altered: take another copy")
    }

    /// An asset's file, once it has the bytes that its record names.
    func asset(_ asset: ArchivedAsset, of zone: ArchiveFormat.Manifest.Zone) throws(SealKitError) -> URL {
        let components = zone.folder.split(separator: "/").map(String.init) + [ArchiveFormat.assets, asset.file]
        let handle = try open(components)
        defer { try? handle.close() }
        guard let sum = try? ArchiveFile.sum(of: handle), sum.sha256 == asset.sha256, sum.bytes == asset.bytes else {
            throw SealKitError(
                .integrityFailure, "an asset of the archive does not have the sum that its record names",
                remedy: "the archive is damaged or was altered: take another copy")
        }
        return components.reduce(folder) { $0.appendingPathComponent($1) }
    }

    /// Each line, with its number. The whole file is lines.
    func lines(
        of handle: FileHandle, _ name: String, _ body: (_ number: Int, _ line: Data) async throws(SealKitError) -> Void
    ) async throws(SealKitError) {
        var rest = Data()
        var number = 0
        while true {
            let part: Data?
            do { part = try handle.read(upToCount: 1 << 18) } catch { throw refused(name, "cannot be read") }
            guard let part, !part.isEmpty else { break }
            rest.append(part)
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: 0x0A) {
                number += 1
                try await body(number, rest[start..<end])
                start = rest.index(after: end)
            }
            rest = Data(rest[start...])
            guard rest.count <= Self.largestLine else {
                throw refused(name, "has a line that is longer than any record's")
            }
        }
        guard rest.isEmpty else { throw refused(name, "ends within a line") }
    }

    func decode<T: Decodable>(_ data: Data, _ name: String) throws(SealKitError) -> T {
        do { return try ArchiveFormat.decoder.decode(T.self, from: data) } catch {
            throw refused(name, "is not what the format says")
        }
    }

    func refused(_ name: String, _ what: String) -> SealKitError {
        SealKitError(.invalidArguments, "\(name) of the archive \(what)", remedy: "take the archive as it was exported")
    }

    private func document(_ handle: FileHandle, _ name: String) throws(SealKitError) -> Data {
        let data: Data?
        do { data = try handle.read(upToCount: Self.largestDocument + 1) } catch {
            throw refused(name, "cannot be read")
        }
        guard let data, data.count <= Self.largestDocument else { throw refused(name, "is empty, or too large") }
        return data
    }

    /// Opens a file below the folder, without following a link anywhere on the way.
    private func open(_ components: [String]) throws(SealKitError) -> FileHandle {
        let name = components.joined(separator: "/")
        var descriptor = Foundation.open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw SealKitError(
                .invalidArguments, "there is no archive to read at \(folder.path)", remedy: "name its folder")
        }
        for (index, component) in components.enumerated() {
            let parent = descriptor
            defer { close(parent) }
            guard Self.isPlain(component) else { throw refused("a file", "has a name that no export makes") }
            let isLast = index == components.count - 1
            let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (isLast ? O_NONBLOCK : O_DIRECTORY)
            let next = openat(parent, component, flags)
            guard next >= 0 else { throw refused(name, "is missing, or leads elsewhere") }
            guard isLast else {
                descriptor = next
                continue
            }
            guard FileStatus(descriptor: next)?.isRegular == true else {
                close(next)
                throw refused(name, "is no file")
            }
            return FileHandle(fileDescriptor: next, closeOnDealloc: true)
        }
        throw refused(name, "is no file")
    }

    private static func isPlain(_ component: String) -> Bool {
        !component.isEmpty && component.utf8.count <= 64 && !component.hasPrefix(".")
            && component.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
