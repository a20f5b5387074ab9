public import Foundation

/// What a field of a record can hold: `String`, `Data`, `Date`, `Bool`, numbers, arrays of each, their counterparts in
/// Foundation's classes, `CLLocation`, `CKAsset` and `CKRecord.Reference`.
///
/// Fields are read as Foundation's objects, which cast as they do on Apple's platforms: a number to `Int`, `Double` or
/// `Bool`, a string to `String`.
public protocol __CKRecordObjCValue {}

public typealias CKRecordValue = __CKRecordObjCValue
public typealias CKRecordValueProtocol = __CKRecordObjCValue

extension String: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Bool: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension Float: CKRecordValueProtocol {}
extension CGFloat: CKRecordValueProtocol {}
extension Int: CKRecordValueProtocol {}
extension Int8: CKRecordValueProtocol {}
extension Int16: CKRecordValueProtocol {}
extension Int32: CKRecordValueProtocol {}
extension Int64: CKRecordValueProtocol {}
extension UInt: CKRecordValueProtocol {}
extension UInt8: CKRecordValueProtocol {}
extension UInt16: CKRecordValueProtocol {}
extension UInt32: CKRecordValueProtocol {}
extension UInt64: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension NSString: CKRecordValueProtocol {}
extension NSData: CKRecordValueProtocol {}
extension NSDate: CKRecordValueProtocol {}
extension NSNumber: CKRecordValueProtocol {}
extension NSArray: CKRecordValueProtocol {}
extension CLLocation: CKRecordValueProtocol {}
extension CKAsset: CKRecordValueProtocol {}
extension CKRecordReference: CKRecordValueProtocol {}
