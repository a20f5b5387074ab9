// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Notes",
    dependencies: [.package(path: "../sealkit")],
    targets: [
        .target(
            name: "NotesSync",
            dependencies: [
                .product(
                    name: "CloudKit", package: "sealkit", moduleAliases: ["CloudKit": "SealCloudKit"],
                    condition: .when(platforms: [.linux]))
            ])
    ])
