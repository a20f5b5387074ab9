import Foundation
import SealPrimitives
package import SealWire
import SwiftProtobuf

extension TokenKeys {
    /// The public halves.
    package var published: Sealkit_V1_TokenKeysResponse {
        .with {
            $0.keys = all.map { key in
                .with {
                    $0.keyID = key.id
                    $0.publicKey = Data(key.signingKey.verificationKey.bytes)
                }
            }
        }
    }
}
