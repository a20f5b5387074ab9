public import Foundation

extension Share {
    /// CloudKit's `CKShare.SystemFieldKey`: what ``title``, ``shareType`` and ``thumbnailImageData`` are, by subscript.
    public struct SystemFieldKey<Value: Sendable>: Sendable {
        fileprivate let read: @Sendable (Share) -> Value?
        fileprivate let write: @Sendable (inout Share, Value?) -> Void
    }

    /// `share[.title] = "Our notes"`. Sealed like all of a share's description; nil where there is none.
    public subscript<Value>(key: SystemFieldKey<Value>) -> Value? {
        get { key.read(self) }
        set { key.write(&self, newValue) }
    }
}

extension Share.SystemFieldKey where Value == String {
    /// ``Share/title``.
    public static var title: Self {
        Self(read: { $0.title.isEmpty ? nil : $0.title }, write: { $0.title = $1 ?? "" })
    }

    /// A uniform type identifier.
    public static var shareType: Self {
        Self(read: { $0.shareType.isEmpty ? nil : $0.shareType }, write: { $0.shareType = $1 ?? "" })
    }
}

extension Share.SystemFieldKey where Value == Data {
    /// ``Share/thumbnailImageData``.
    public static var thumbnailImageData: Self {
        Self(read: { $0.thumbnailImageData }, write: { $0.thumbnailImageData = $1 })
    }
}
