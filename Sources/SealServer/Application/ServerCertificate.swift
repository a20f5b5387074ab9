import Foundation
import Logging
import NIOCore
import NIOSSL
import SealService
import SealSystem
import Synchronization

/// The certificate that clients are shown, and its key: read at the start, and again when their files have changed, so
/// that a renewal needs no restart. Connections keep what they began with.
final class ServerCertificate: Sendable {
    private struct Pair {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey

        /// Throws `ConfigurationError` for files that are not there or may not be read, hold something else, or do not
        /// belong together.
        init(_ files: ServerConfiguration.TLSFiles) throws(ConfigurationError) {
            try ConfigurationError.requireFile("tls-certificate", files.certificate)
            try ConfigurationError.requireFile("tls-key", files.key)
            do { chain = try NIOSSLCertificate.fromPEMFile(files.certificate) } catch {
                throw .tlsFile(path: files.certificate)
            }
            guard !chain.isEmpty else { throw .tlsFile(path: files.certificate) }
            do { key = try NIOSSLPrivateKey(file: files.key, format: .pem) } catch { throw .tlsFile(path: files.key) }
            do { _ = try NIOSSLContext(configuration: configuration) } catch NIOSSLError.failedToLoadPrivateKey {
                throw .tlsMismatch(certificate: files.certificate, key: files.key)
            } catch {
                throw .tlsFile(path: files.certificate)
            }
        }

        var configuration: TLSConfiguration {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            tls.minimumTLSVersion = .tlsv12
            return tls
        }

        var shown: NIOSSLContextConfigurationOverride {
            var shown = NIOSSLContextConfigurationOverride()
            shown.certificateChain = chain.map { .certificate($0) }
            shown.privateKey = .privateKey(key)
            return shown
        }

        /// The first one is the server's own; there is no pair without one.
        var names: CertificateNames { CertificateNames(chain[0]) }

        /// As the log has it.
        var validUntil: String { Self.text(chain[0].notValidAfter) }

        /// Whether clients take it at a time, in seconds since 1970.
        func validity(at now: Int64) -> Validity {
            if now > Int64(chain[0].notValidAfter) { return .expired(validUntil) }
            if now < Int64(chain[0].notValidBefore) { return .early(Self.text(chain[0].notValidBefore)) }
            return .valid
        }

        private static func text(_ time: Int) -> String {
            Date(timeIntervalSince1970: Double(time)).ISO8601Format()
        }
    }

    /// With the time, as the log has it.
    private enum Validity: Equatable, CustomStringConvertible {
        case valid, expired(String), early(String)

        var description: String {
            switch self {
            case .valid: "valid"
            case .expired(let time): "expired on \(time)"
            case .early(let time): "not valid before \(time)"
            }
        }

        var isOver: Bool { if case .expired = self { true } else { false } }
    }

    /// What a file looked like.
    private struct Look: Equatable {
        let identity: FileStatus.Identity
        let size: Int64
        let modified: FileStatus.Moment

        init?(_ path: String) {
            guard let status = FileStatus(path: path) else { return nil }
            (identity, size, modified) = (status.identity, status.size, status.modified)
        }
    }

    private struct State {
        var pair: Pair
        /// When they were last read, whatever came of it.
        var looks: [Look?]
        /// What was last said of its validity.
        var validity = Validity.valid
        /// The files hold a pair whose time has not come.
        var waits = false
        /// Why the files could not be used when they were last read; nil where they could. That they can be since, by
        /// other rights, shows nowhere else.
        var failure: String?
    }

    /// Between two looks whether it was renewed.
    static let interval: Duration = .seconds(60)

    private let files: ServerConfiguration.TLSFiles
    /// What clients call the server; nil where it is the address that it listens on, or a proxy's matter.
    private let host: String?
    /// Microseconds since 1970.
    private let clock: @Sendable () -> Int64
    private let state: Mutex<State>

    init(
        _ files: ServerConfiguration.TLSFiles, host: String?, clock: @escaping @Sendable () -> Int64
    ) throws(ConfigurationError) {
        (self.files, self.host, self.clock) = (files, host, clock)
        // Before they are read: what changes meanwhile is read again.
        let looks = Self.looks(files)
        state = Mutex(State(pair: try Pair(files), looks: looks))
    }

    var validUntil: String { state.withLock { $0.pair.validUntil } }
    /// Seconds since 1970.
    var expires: Int { state.withLock { Int($0.pair.chain[0].notValidAfter) } }

    /// Of the listener: every handshake asks for the newest pair.
    var configuration: TLSConfiguration {
        var tls = state.withLock { $0.pair.configuration }
        tls.sslContextCallback = { [self] _, promise in promise.succeed(state.withLock { $0.pair.shown }) }
        return tls
    }

    /// Reads the files again if they look otherwise than the last time, or could not be used then. What cannot be used
    /// is logged, once for each way in which it looks or fails, and the pair before stays in use; a renewal that is
    /// half written is whole at the next look. One whose time has passed or has not come does not replace one that
    /// clients take; once its time has come it does.
    /// - Parameter always: whatever they look like.
    func renew(always: Bool = false, logger: Logger) {
        let (looks, now) = (Self.looks(files), clock() / 1_000_000)
        let (hasChanged, waits, failure) = state.withLock { state in
            defer { (state.looks, state.failure) = (looks, nil) }
            return (state.looks != looks, state.waits, state.failure)
        }
        let hasItsTimeCome = waits && (try? Pair(files))?.validity(at: now) == .valid
        guard hasChanged || always || hasItsTimeCome || failure != nil else { return warnOfTime(logger) }
        state.withLock { $0.waits = false }
        do {
            let pair = try Pair(files)
            let former = state.withLock(\.pair)
            guard isForServer(pair) || !isForServer(former) else {
                return logger.error(
                    "the changed certificate is not for the server's name; the one before stays in use",
                    metadata: [
                        "name": "\(host ?? "")", "certificateIsFor": "\(pair.names)",
                        "validUntil": "\(former.validUntil)",
                    ])
            }
            let validity = pair.validity(at: now)
            let isTaken = validity == .valid || former.validity(at: now) != .valid
            state.withLock { state in
                if isTaken { state.pair = pair }
                state.waits = !isTaken && !validity.isOver
            }
            guard isTaken else {
                return logger.error(
                    "the changed certificate has expired or is not valid yet; the one before stays in use",
                    metadata: [
                        "certificate": "\(files.certificate)", "validity": "\(validity)",
                        "validUntil": "\(former.validUntil)",
                    ])
            }
            logger.notice(
                "the certificate was read again; new connections get it", metadata: ["validUntil": "\(pair.validUntil)"]
            )
            warn(logger)
        } catch {
            state.withLock { $0.failure = "\(error)" }
            guard hasChanged || always || failure != "\(error)" else { return warnOfTime(logger) }
            logger.error(
                "the changed certificate cannot be used; the one before stays in use",
                metadata: ["error": "\(error)", "validUntil": "\(validUntil)"])
        }
    }

    /// Says so where the certificate is for others than the server's name. It is no error: something before this server
    /// may show clients a certificate of its own.
    func warn(_ logger: Logger) {
        warnOfTime(logger)
        let pair = state.withLock(\.pair)
        guard let host, !isForServer(pair) else { return }
        logger.warning(
            "the certificate is not for the server's name: clients that are shown it refuse the server",
            metadata: ["name": "\(host)", "certificateIsFor": "\(pair.names)"])
    }

    /// Says once that the certificate has expired, or is not valid yet.
    private func warnOfTime(_ logger: Logger) {
        let now = clock() / 1_000_000
        let (validity, isNew) = state.withLock { state in
            let validity = state.pair.validity(at: now)
            defer { state.validity = validity }
            return (validity, validity != state.validity)
        }
        guard isNew else { return }
        switch validity {
        case .valid: break
        case .expired(let time):
            logger.error(
                "the certificate expired on \(time): clients refuse the server; a renewed one in its place is taken up",
                metadata: ["certificate": "\(files.certificate)", "validUntil": "\(time)"])
        case .early(let time):
            logger.error(
                "the certificate is not valid before \(time), by this machine's clock: clients refuse the server",
                metadata: ["certificate": "\(files.certificate)", "validFrom": "\(time)"])
        }
    }

    private func isForServer(_ pair: Pair) -> Bool { host.map { pair.names.covers($0) } ?? true }

    private static func looks(_ files: ServerConfiguration.TLSFiles) -> [Look?] {
        [Look(files.certificate), Look(files.key)]
    }
}
