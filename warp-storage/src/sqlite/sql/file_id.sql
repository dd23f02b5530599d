-- Tells this file from any other, copies of it included.
SELECT id || ' in ' || (SELECT file FROM pragma_database_list WHERE name = 'main') FROM warp_store
