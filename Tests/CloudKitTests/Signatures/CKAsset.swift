import CloudKit

func assets() {
    let asset: CKAsset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/scan"))
    let _: URL? = asset.fileURL
}
