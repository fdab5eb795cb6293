"""Every shape of data in Holdfast, valid by construction; nothing here touches the world."""
