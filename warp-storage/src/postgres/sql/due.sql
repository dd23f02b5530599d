-- Who is there, and what is due for a turn. From here on the turn waits for nobody's key, so it may wait for what else there is.
SELECT json_build_object(
    'now', (SELECT now FROM moment),
    'waits', set_config('lock_timeout', '0', true),
    'presence',
