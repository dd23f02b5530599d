-- Who is there, and what is due for a turn.
SELECT json_object(
    'presence',
