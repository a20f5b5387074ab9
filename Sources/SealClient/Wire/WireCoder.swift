/// Goes over a message's fields: ``WireReader`` fills them, ``WireSizer`` and ``WireWriter`` write them. So each
/// message names its fields once, in the order of their numbers, which is the order in which they are written.
public protocol WireCoder {
    /// `Never` where fields are written.
    associatedtype Failure: Error

    /// One that is not told apart from an absent one when it is the default.
    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) throws(Failure)
    /// One that may be absent: a message, or what protobuf calls `optional`.
    mutating func optional<Value: WireValue>(_ number: UInt32, _ value: inout Value?) throws(Failure)
    mutating func list<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) throws(Failure)
    /// A member of a `oneof`.
    /// - Parameters:
    ///   - member: what `choice` holds if it is this member.
    ///   - make: the choice of this member.
    mutating func choice<Choice, Value: WireValue>(
        _ number: UInt32, _ choice: inout Choice?, _ member: (Choice) -> Value?, _ make: (Value) -> Choice
    ) throws(Failure)
}
