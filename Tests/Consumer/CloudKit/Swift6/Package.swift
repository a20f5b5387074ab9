// swift-tools-version: 6.0
import PackageDescription

// A package by a path is named after its folder.
let sealKit = Context.packageDirectory.split(separator: "/").dropLast(4).last?.lowercased() ?? "sealkit"

let package = Package(
    name: "NotesSwift6",
    products: [.library(name: "NotesSwift6", targets: ["NotesSwift6"])],
    dependencies: [.package(path: "../../../..")],
    targets: [
        .target(
            name: "NotesSwift6",
            dependencies: [
                .product(name: "CloudKit", package: sealKit, condition: .when(platforms: [.linux]))
            ], path: ".", swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
