from .opening import explore as explore
