SELECT json_build_object(
    'started', coalesce((
        SELECT json_agg(json_build_object('job', id, 'claim', claim, 'payload', payload)) FROM job WHERE claim IS NOT NULL), '[]'))
