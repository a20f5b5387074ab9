enum SealEnvelopePlaceholder {}
