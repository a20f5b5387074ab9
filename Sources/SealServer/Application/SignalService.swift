import Foundation
import Logging
import SealSystem
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Ends the server at a signal, and says in the log at which. SIGHUP has it read the certificate again, where there is
/// one.
final class SignalService: Service {
    private let certificate: ServerCertificate?
    private let logger: Logger
    private let signals = Mutex<UnixSignalsSequence?>(nil)

    init(certificate: ServerCertificate?, logger: Logger) {
        (self.certificate, self.logger) = (certificate, logger)
    }

    /// From here on signals wait for `run`, and end nothing by themselves.
    func trap() async {
        var wanted: [UnixSignal] = [.sigint, .sigterm]
        // Where there is no certificate it would end the server, which `nohup` asks it not to.
        if certificate != nil || !isIgnored(signal: SIGHUP) { wanted.append(.sighup) }
        let trapped = await UnixSignalsSequence(trapping: wanted)
        signals.withLock { $0 = trapped }
    }

    /// Returns when the server is to stop.
    func run() async throws {
        guard let signals = signals.withLock({ $0 }) else { return }
        await cancelWhenGracefulShutdown { [self] in
            for await signal in signals {
                if signal == .sighup, let certificate {
                    certificate.renew(always: true, logger: logger)
                } else {
                    return logger.notice("the server stops", metadata: ["reason": "\(signal)"])
                }
            }
        }
    }
}
