SELECT to_regclass('warp.store') IS NOT NULL
