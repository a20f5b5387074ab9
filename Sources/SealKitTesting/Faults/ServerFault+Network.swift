import Foundation
public import SealKit

/// What goes wrong on the way, and a server that is another one, or as it was.
extension ServerFault {
    /// The device is answered by the server as it was at the time of a snapshot, whatever it asks for, and its changes
    /// stay there: rosters, records, shares, everything. Streams and downloads that are open end, here and when it is
    /// taken away. Seen as `rollback` by a device that has seen more. Two devices that are sent to different times see
    /// different changes of one record: whoever is shown both refuses.
    public static func rollback(to snapshot: ServerSnapshot) -> ServerFault {
        ServerFault(.rollback, elsewhere: snapshot.transport)
    }

    /// Nothing reaches the server, and streams and downloads that are open end. Seen as `networkFailure`, after some
    /// tries.
    public static var offline: ServerFault {
        ServerFault(
            .offline,
            arriving: { _ throws(SealKitError) in
                throw SealKitError(.networkFailure, "the device has no network", remedy: "check the network")
            }, endsConnections: true)
    }

    /// The server does nothing and says why. Seen as this code; `serviceUnavailable`, `requestRateLimited` and
    /// `zoneBusy` after some tries. No check passes because of it.
    /// - Parameters:
    ///   - code: what it says.
    ///   - retryAfter: seconds, where it asks for time.
    ///   - call: of paths that end so, `records/modify` for instance; empty for all.
    ///   - times: how often, and no more after that; nil for as long as the fault is there.
    public static func refusal(
        _ code: SealKitError.Code, retryAfter: Double? = nil, of call: String = "", times: Int? = nil
    ) -> ServerFault {
        let counter = Countdown(times)
        return ServerFault(
            .refusal,
            arriving: { path throws(SealKitError) in
                guard path.hasSuffix(call), counter.isLeft() else { return }
                throw SealKitError(
                    code, "the test server refuses", remedy: "take the fault away", retryAfter: retryAfter)
            })
    }

    /// The server does what it is asked to, and its answer is lost. The SDK asks again, and gets the first answer: the
    /// change is made once. Where no answer comes at all: `serverResponseLost` of a change, `networkFailure` of a read.
    /// - Parameters:
    ///   - call: of paths that end so; empty for all.
    ///   - times: how often; nil for as long as the fault is there.
    public static func lostAnswers(to call: String = "", times: Int? = 1) -> ServerFault {
        let counter = Countdown(times)
        return ServerFault(.lostAnswers) { asked, _ in
            guard asked.path.hasSuffix(call), counter.isLeft() else { return }
            throw SealKitError(.serverResponseLost, "the test network lost the answer", retryAfter: nil)
        }
    }

    /// Downloads break off. The SDK goes on where it was.
    /// - Parameters:
    ///   - count: bytes that arrive before.
    ///   - times: how often.
    public static func brokenDownloads(after count: Int, times: Int = 1) -> ServerFault {
        let counter = Countdown(times)
        return ServerFault(.brokenDownloads, breaking: { _ in counter.isLeft() ? count : nil })
    }

    /// Somebody else's web server answers. Seen as `serverRejectedRequest`.
    public static var notASealKitServer: ServerFault {
        ServerFault(.notASealKitServer) { _, response in
            response = TransportResponse(
                status: 200, body: Data("<!DOCTYPE html><title>Welcome</title>".utf8), contentType: "text/html")
        }
    }
}

extension ServerSnapshot {
    var transport: any Transport { host.transport(from: "10.255.0.1") }
}
