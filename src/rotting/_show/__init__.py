"""What people look at: pictures, pages, folders of results."""
