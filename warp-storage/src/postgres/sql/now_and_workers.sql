SELECT json_build_object('now', (SELECT now FROM moment), 'presence',
