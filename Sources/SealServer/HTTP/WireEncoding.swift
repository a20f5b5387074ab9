import HTTPTypes
import Hummingbird

/// The two encodings of a wire message.
enum WireEncoding: Sendable {
    case protobuf
    case json

    var mediaType: String {
        switch self {
        case .protobuf: "application/x-protobuf"
        case .json: "application/json"
        }
    }

    static let acceptedTypes = "application/x-protobuf or application/json"

    /// Reads a media type, parameters left out.
    init?(mediaType: some StringProtocol) {
        let type = String(mediaType.prefix { $0 != ";" }.filter { !$0.isWhitespace }).lowercased()
        switch type {
        case "application/x-protobuf", "application/protobuf": self = .protobuf
        case "application/json": self = .json
        default: return nil
        }
    }

    /// The media type alone and as we write it, which is what most clients send: nothing has to be taken apart.
    private init?(spelled text: String) {
        switch text {
        case Self.protobuf.mediaType: self = .protobuf
        case Self.json.mediaType: self = .json
        default: return nil
        }
    }

    /// What the request's body is in; nil when it does not say, or says something else.
    init?(bodyOf request: Request) {
        guard let type = request.headers.value(of: .contentType) else { return nil }
        guard let encoding = WireEncoding(spelled: type) ?? WireEncoding(mediaType: type) else { return nil }
        self = encoding
    }

    /// What the answer should be in: the first type that `Accept` names and we know, else the request's own, else JSON,
    /// which is what a browser or curl can show.
    init(answerTo request: Request) {
        if let accept = request.headers.value(of: .accept) {
            if let only = WireEncoding(spelled: accept) {
                self = only
                return
            }
            for type in accept.split(separator: ",") {
                if let encoding = WireEncoding(mediaType: type) {
                    self = encoding
                    return
                }
            }
        }
        self = WireEncoding(bodyOf: request) ?? .json
    }
}
