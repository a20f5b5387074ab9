import SealClient
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WhiteSpaceTests {
    @Test
    func isUnicodesProperty() {
        let different = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init)
            .filter { $0.isWhiteSpace != $0.properties.isWhitespace }
        #expect(different == [])
    }

    @Test(arguments: [
        " 123 456", "123\u{2009}456\u{3000}", "123-456\n", "\u{85}1\u{1680}2\u{202F}3 4\u{205F}5\u{2028}6",
    ])
    func doesNotCountInATypedCode(_ typed: String) {
        #expect(AddressProof.digits(of: typed) == "123456")
    }
}
