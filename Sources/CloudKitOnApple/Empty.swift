// Apple's platforms have a CloudKit of their own: the product of that name holds nothing there.
