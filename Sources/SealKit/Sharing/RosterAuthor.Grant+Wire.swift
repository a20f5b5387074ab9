import SealCoding
import SealClient
import SealEnvelope
import SealWire

extension RosterAuthor.Grant {
    /// As it is sent.
    var wire: Sealkit_V1_Grant { Sealkit_V1_Grant(subject: subject, epoch: epoch, sealed: sealed) }
}
