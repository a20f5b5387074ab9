import CloudKit

func assets(_ coder: NSCoder) {
    let asset: CKAsset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/scan"))
    let _: URL? = asset.fileURL
    let _: CKAsset? = CKAsset(coder: coder)
    let _: any NSSecureCoding = asset
}
