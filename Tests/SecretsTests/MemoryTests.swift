#if os(Linux)
    import SealEnvelope
    import SealPrimitives
    import SealService
    import SealStatements
    import Testing

    @testable import SealEnvelope
    @testable import SealKit

    /// Keys are wiped when they are released: each test does its work in a process of its own, releases everything, and
    /// searches all memory of that process for the keys, derived ones too.
    @Suite(.serialized, .timeLimit(.minutes(60))) struct MemoryTests {
        @Test func `The search finds a copy that was left behind`() async {
            await #expect(processExitsWith: .success) {
                var random = SystemRandom()
                let vault = Vault()
                let key = SecretBytes(random: &random)
                vault.remember("live", key)
                let freed = SecretBytes(random: &random)
                vault.remember("freed", freed)
                // An array that grows: its first buffer is freed as it is.
                var array = freed.copyBytes()
                array.append(contentsOf: [UInt8](repeating: 0, count: 200))
                wipe(&array)
                let copied = SecretBytes(random: &random)
                vault.remember("copied", copied)
                let copy = copied.copyBytes()
                vault.remember("never there", SecretBytes(random: &random))
                let found = vault.found().map { $0.prefix { $0 != " " } }
                #expect(found == ["live", "freed", "copied"])
                withExtendedLifetime((key, freed, copied, copy)) {}
            }
        }

        @Test func `Keys of an account leave nothing`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.account(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }

        @Test func `Recovery key, bundle and boxes leave nothing`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.recovery(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }

        @Test func `A password box leaves nothing`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.passwordBox(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }

        @Test func `Epoch keys, record keys and file keys leave nothing`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.records(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }

        @Test func `Enrolling a device leaves nothing`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.enrolment(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }

        @Test func `Links and what they give leave nothing`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.links(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }

        /// Nobody can wipe a `String`: what the printed forms leave is the text alone, never the bytes.
        @Test func `Printed forms leave no bytes of the key`() async {
            await #expect(processExitsWith: .success) {
                let vault = Vault()
                try MemoryWork.texts(vault)
                let found = vault.foundBeyondSwiftCrypto()
                #expect(found.isEmpty, "\(found)")
            }
        }
    }
#endif
