SELECT json_build_object(
