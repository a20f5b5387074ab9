// Messages of enrolling a device from another one: devices.proto in SealWire says what each field means.

extension Wire {
    public struct OpenEnrolmentRequest: WireMessage {
        public var enrolmentID: [UInt8] = []
        public var commitment: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
            try coder.field(2, &commitment)
        }
    }

    public struct OpenEnrolmentResponse: WireMessage {
        public var ticket: [UInt8] = []
        public var expires: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &ticket)
            try coder.field(2, &expires)
        }
    }

    public struct ClaimEnrolmentRequest: WireMessage {
        public var enrolmentID: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
        }
    }

    public struct ClaimEnrolmentResponse: WireMessage {
        public var commitment: [UInt8] = []
        public var expires: Int64 = 0

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &commitment)
            try coder.field(2, &expires)
        }
    }

    public struct AnswerEnrolmentRequest: WireMessage {
        public var enrolmentID: [UInt8] = []
        public var answer: [UInt8] = []
        public var loginKey: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
            try coder.field(2, &answer)
            try coder.field(3, &loginKey)
        }
    }

    public struct RevealEnrolmentRequest: WireMessage {
        public var enrolmentID: [UInt8] = []
        public var ticket: [UInt8] = []
        public var grantKey: [UInt8] = []
        public var nonce: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
            try coder.field(2, &ticket)
            try coder.field(3, &grantKey)
            try coder.field(4, &nonce)
        }
    }

    public struct DeliverEnrolmentRequest: WireMessage {
        public var enrolmentID: [UInt8] = []
        public var sealed: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
            try coder.field(2, &sealed)
        }
    }

    public struct EnrolmentResponse: WireMessage {
        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {}
    }

    public struct EnrolmentStateRequest: WireMessage {
        public var enrolmentID: [UInt8] = []
        public var ticket: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
            try coder.field(2, &ticket)
        }
    }

    public struct EnrolmentStateResponse: WireMessage {
        public var answer: [UInt8] = []
        public var loginKey: [UInt8] = []
        public var sealed: [UInt8] = []
        public var grantKey: [UInt8] = []
        public var nonce: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &answer)
            try coder.field(2, &loginKey)
            try coder.field(3, &sealed)
            try coder.field(4, &grantKey)
            try coder.field(5, &nonce)
        }
    }

    public struct EndEnrolmentRequest: WireMessage {
        public var enrolmentID: [UInt8] = []
        public var ticket: [UInt8] = []

        public init() {}

        public mutating func code<Coder: WireCoder>(_ coder: inout Coder) throws(Coder.Failure) {
            try coder.field(1, &enrolmentID)
            try coder.field(2, &ticket)
        }
    }
}
