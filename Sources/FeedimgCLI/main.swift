print("feedimg")
